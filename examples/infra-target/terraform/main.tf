terraform {
  required_version = ">= 1.5"
}

provider "aws" {
  region = "us-east-1"
}

module "network" {
  source = "./modules/network"
}

resource "aws_s3_bucket" "reports" {
  bucket = "example-reports"
  acl = "public-read-write"
}

resource "aws_iam_role_policy" "deploy" {
  name = "deploy"
  role = "deploy"
  policy = <<-JSON
    {
      "Statement": [{ "Effect": "Allow", "Action": "*", "Resource": "*" }]
    }
  JSON
}
